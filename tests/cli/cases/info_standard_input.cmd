mxprof info - < sample.mxp
