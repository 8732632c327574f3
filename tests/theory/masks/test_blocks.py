from maskproof.theory.masks import Blocks, Causal, SlidingWindow


def test_the_keys_of_blocks():
    seen = [list(Blocks(2).keys(query, 7)) for query in range(1, 8)]
    assert seen == [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4], [3, 4, 5], [3, 4, 5, 6], [5, 6, 7]]


def test_blocks_of_one_are_a_window_of_two_and_two_blocks_hide_nothing_earlier():
    for n in range(1, 8):
        assert Blocks(1).matrix(n) == SlidingWindow(2).matrix(n)
        assert Blocks((n + 1) // 2).matrix(n) == Causal().matrix(n)
