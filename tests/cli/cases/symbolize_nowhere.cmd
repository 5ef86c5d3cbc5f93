mxprof symbolize --help; mxprof symbolize . ; mxprof symbolize sample.mxp -o -
