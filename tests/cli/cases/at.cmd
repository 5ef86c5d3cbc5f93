mxprof at sample.mxp 1.2
