-- SPDX-License-Identifier: Apache-2.0
-- wrk's script: posts one body again and again. Arguments: content type, file. Prints one JSON line.
function init(args)
  wrk.method = "POST"
  wrk.headers["Content-Type"] = args[1]
  local file = assert(io.open(args[2], "rb"))
  wrk.body = file:read("*a")
  file:close()
end

function done(summary, latency)
  local e = summary.errors
  print(string.format(
    '{"requests": %d, "seconds": %.6f, "p50_us": %d, "p99_us": %d, "most_us": %d, ' ..
    '"refused": %d, "socket_errors": %d}',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    latency.max, e.status, e.connect + e.read + e.write + e.timeout))
end
