mxprof info sample.mxp
