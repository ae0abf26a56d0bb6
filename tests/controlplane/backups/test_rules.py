from controlplane.backups.rules import migrations_differ


def test_the_same_migrations_differ_in_nothing():
    assert migrations_differ({"a": ["1", "2"]}, {"a": ["2", "1"]}) == ""


def test_both_sides_are_named():
    said = migrations_differ({"a": ["1", "2"]}, {"a": ["1"], "b": ["9"]})
    assert (
        said
        == "the backup has a.2 and this release has not; this release has b.9 and the backup has not"
    )


def test_only_the_first_few_are_said():
    said = migrations_differ({"a": [str(n) for n in range(8)]}, {})
    assert said == "the backup has a.0, a.1, a.2, a.3, a.4 and 3 more and this release has not"
