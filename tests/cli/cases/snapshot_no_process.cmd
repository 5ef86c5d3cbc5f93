mxprof snapshot 2147483646
