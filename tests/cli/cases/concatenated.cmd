cat several/first.mxp several/second.mxp > all.mxp && mxprof report all.mxp | head -6
