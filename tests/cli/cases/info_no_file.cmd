mxprof info
