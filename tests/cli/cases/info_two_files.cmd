mxprof info sample.mxp empty.mxp
