# Reading and writing of texts: la.read_csv, la.write_csv, numbers of JSON lines.
NEEDS_frame := csv
