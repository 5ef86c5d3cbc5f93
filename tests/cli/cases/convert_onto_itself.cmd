mxprof convert sample.mxp -o ./sample.mxp
