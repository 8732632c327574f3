from maskproof.theory.masks import Causal, Dilated, SlidingWindow


def test_the_keys_of_a_dilated_window():
    seen = [list(Dilated(3, 2).keys(query, 8)) for query in range(1, 9)]
    assert seen == [[1], [2], [1, 3], [2, 4], [1, 3, 5], [2, 4, 6], [3, 5, 7], [4, 6, 8]]


def test_steps_of_one_are_a_window_and_a_window_of_one_sees_itself():
    for n in range(1, 8):
        assert Dilated(3, 1).matrix(n) == SlidingWindow(3).matrix(n)
        assert Dilated(n, 1).matrix(n) == Causal().matrix(n)
        assert Dilated(1, 5).matrix(n) == SlidingWindow(1).matrix(n)
