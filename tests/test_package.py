import armarius


def test_version_is_the_version_of_the_native_core():
    assert armarius.__version__.count(".") == 2
