-- lunarray.words.profile. The format is in lunarray.help.rows.
return [==[
= Where time goes
== profile
: la.profile(f, ...) -> profile, ...
What f's operations take, then f's results. The profile prints as two tables,
by operation and by line of the script: calls, self (seconds without what runs
inside), total, memory (bytes allocated less those freed). Derivatives have the
line of their operation, a fused chain is one, what worker threads do belongs to
the call that started them. p.rows has an entry for each operation and line (op,
kind, line, count, self, total, bytes_self, bytes), p:by_op() and p:by_line()
their sums, p.time the seconds in all, p:table(n) the text with n rows;
p:save(path) writes the calls as trace events for chrome://tracing or
ui.perfetto.dev. One inside of another records in both.
> p, sum = la.profile(function(x) return x:exp():sum() end, la.zeros(5))
> sum, #p.rows, p:by_op()[1].count
tensor(5.)    2    1
! A function that yields; in a sandbox.
see: memory, tidy, fuse
]==]
