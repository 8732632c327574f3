"""Phase diagrams: a survey of parameters, certified piece by piece, and an independent check of its certificate."""
