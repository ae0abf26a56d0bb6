"""Every bound of reading messages, with its unit. Pure."""

from controlplane.gateway.record_port import HEADERS_MAX

PAGE_DEFAULT, PAGE_MAX = 50, 200
"""Messages of a page."""
SCANNED_RECORDS_MAX = 200_000
"""Looked at for one page; a filter may find few of them."""
SCANNED_BYTES_MAX = 512 * 1024 * 1024
"""As they are held in memory: records and headers without a byte count, too."""
SCAN_S_MAX = 30.0
TAIL_S_MAX = 600.0
RIGHTS_CHECK_S = 2.0
"""So often a reading asks again whether it is allowed, and what masks hide by now."""
STEP_S_MAX = 0.5
"""Records are looked at for so long before it can be cancelled and rights are asked for again: what
one costs is its producer's choice."""
SILENCE_S = 10.0
"""A partition that ought to bring records and brings none for so long is given up."""
PATIENT_SHARE = 0.5
"""Of what is left of a read's patience, how long partitions that bring nothing are waited for: the
rest is for what the others bring."""
WAITS_AFTER_S = 1.0
"""A live reading says so when a partition has brought nothing for so long."""
FETCH_WAIT_S = 0.4
"""Of one look at the brokers: between two of them a reader may be cancelled."""
BUFFER_BYTES_MAX = 32 * 1024 * 1024
"""Records that wait to be merged, over all partitions of a reader."""
WINDOW_RECORDS_MAX = 500
PARTITIONS_MAX = 500
"""Read at once: more are to be chosen from."""
TAIL_MESSAGES_PER_S_MAX = 50
"""Shown of a live tail; what comes beyond is counted as left out."""
TEXT_SHOWN_MAX = 8 * 1024
"""Characters of a key, value or header in a list."""
TEXT_WHOLE_MAX = 8 * 1024 * 1024
"""Characters of one message that is shown whole."""
HEADERS_SHOWN_MAX = HEADERS_MAX
"""Of one message; the gateway decodes no more."""
HEADERS_TEXT_MAX = 16 * 1024
"""Characters of all headers of a message in a list."""
HEADER_NAME_SHOWN_MAX = 1_000
PAGE_HEADERS_MAX = 2_000
"""Of all messages of a page, and in a second of a live tail: one message alone shows its own."""
FILTER_TEXT_MAX = 500
EXPRESSION_MAX = 1_000
"""Characters."""
EXPRESSION_NODES_MAX, EXPRESSION_DEPTH_MAX = 100, 20
JSON_DEPTH_MAX = 100
JSON_ITEMS_MAX = 250_000
"""Values that JSON may hold: three bytes may be an object of Python's."""
STRUCTURED_MAX_BYTES = 4 * 1024 * 1024
"""Taken apart as JSON or by a schema; what is greater is text or bytes."""
EXPORT_RECORDS_DEFAULT, EXPORT_RECORDS_MAX = 1_000, 10_000
EXPORT_BYTES_MAX = 16 * 1024 * 1024
"""Of a file, which is put together in memory."""
PRODUCE_KEY_MAX_BYTES = 64 * 1024
PRODUCE_VALUE_MAX_BYTES = 512 * 1024
PRODUCE_HEADERS_MAX = 50
PRODUCE_TIMEOUT_S = 8.0
