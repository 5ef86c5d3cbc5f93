mxprof info folder
