"""Which sentences the overview says, worst first."""

from console.pages.attention import attention

AS_OF = "2026-01-02T00:00:00Z"


def cluster(*alive, phase="RUNNING"):
    brokers = [{"id": at, "alive": up} for at, up in enumerate(alive, 1)]
    return {"id": "cl_1", "name": "main", "phase": phase, "brokers": brokers}


def gold(*rows):
    return {"as_of": AS_OF, "run_id": "run_1", "data": list(rows)}


def point(group, status, topic="t", records=1234):
    return {"group": group, "topic": topic, "status": status, "lag_records": records}


def said(*arguments):
    return [(row["severity"], row["text"]) for row in attention(*arguments)]


def test_a_healthy_cluster_needs_nothing():
    assert said(cluster(True, True), gold(point("g", "CAUGHT_UP")), gold()) == []


def test_worst_first_and_one_line_for_a_group():
    lag = gold(point("g", "FALLING_BEHIND"), point("g", "STOPPED", topic="u", records=9))
    assert said(cluster(True, False), lag, gold()) == [
        ("danger", "Broker 2 not serving."),
        ("danger", "Group g has stopped: nobody consumes and 9 records wait."),
    ]


def test_brokers_that_are_still_coming_are_no_alarm():
    assert said(cluster(False, False, phase="CREATING"), gold(), gold()) == []


def test_unread_records_about_to_expire():
    group = {"group": "g", "status": "AT_RISK", "oldest_unread_expires_in_s": 1800.0}
    rows = attention(cluster(True), gold(), gold({"topic": "t", "groups": [group]}))
    assert rows[0]["text"] == "Group g will lose unread records of t in 30 min."
    assert (rows[0]["topic"], rows[0]["as_of"]) == ("t", AS_OF)


def test_a_group_may_be_called_anything():
    assert "{records}" in said(cluster(True), gold(point("{records}", "STALLED")), gold())[0][1]
