mxprof help | head -1
