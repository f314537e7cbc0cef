# SPDX-License-Identifier: GPL-3.0-or-later
# Reads what one test file printed. Prints its failures with what explains them, its skips, and "COUNT passed failed skipped".

/^(not )?ok .*# *(SKIP|skip)/ { skipped++; failing = 0; print "skip   " file ": " $0; next }
/^ok( |$)/     { passed++; failing = 0; next }
/^not ok( |$)/ { failed++; failing = 1; print "FAILED " file ": " $0; next }
/^# exit /     { last = $0; next }
failing        { print "       " $0 }
               { tail[++lines % 20] = $0 }

END {
	if (code && !failed || !passed && !failed && !skipped) {
		failed++
		print "FAILED " file ": " last ", without a word why; it ended with"
		for (i = lines > 20 ? lines - 19 : 1; i <= lines; i++)
			print "       " tail[i % 20]
	}
	printf "%-40s %4d passed, %d failed, %d skipped\n", file, passed, failed, skipped
	print "COUNT", passed + 0, failed + 0, skipped + 0
}
