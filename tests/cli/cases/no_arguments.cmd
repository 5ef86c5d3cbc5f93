mxprof
