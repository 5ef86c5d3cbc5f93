mxprof report --percentiles sample.mxp
