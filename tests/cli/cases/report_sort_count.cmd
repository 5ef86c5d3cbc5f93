mxprof report --sort count sample.mxp
