mxprof ls x
