mxprof report --from soon sample.mxp
