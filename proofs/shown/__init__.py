"""What people see: tables, figures, notes, notebooks, files."""
