mxprof top --name wrk sample.mxp
