mxprof convert sample.mxp -o no/such/out.json
