mxprof memory --at noon sample.mxp; mxprof memory --growth --fresh sample.mxp
