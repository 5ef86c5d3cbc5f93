mxprof convert -h
