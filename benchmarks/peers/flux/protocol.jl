# SPDX-License-Identifier: Apache-2.0
# What the Flux peers share, as common/peer.py for those in Python: options, the data that `linnet
# bench --export` wrote, whole timed epochs, and their JSON line.
module Protocol

using Flux, LinearAlgebra, Random, Statistics

const TYPES = Dict("u8" => UInt8, "i32" => Int32, "f32" => Float32)

function options(arguments)
    found = Dict("data" => "", "device" => "cpu", "precision" => "auto", "batch" => "128",
                 "warmup" => "2", "epochs" => "10", "threads" => "0", "seed" => "0",
                 "infer" => "", "test" => "")
    while !isempty(arguments)
        name = popfirst!(arguments)[3:end]
        haskey(found, name) || error("unknown option --$name")
        found[name] = name in ("infer", "test") ? "yes" : popfirst!(arguments)
    end
    found["device"] == "cpu" || error("this peer runs on the CPU; got --device $(found["device"])")
    found["precision"] in ("auto", "fp32") ||
        error("this peer computes in fp32; got --precision $(found["precision"])")
    return found
end

number(asked, name) = parse(Int, asked[name])

function values_of(path, type, count)
    return open(io -> read!(io, Vector{TYPES[type]}(undef, count)), path)
end

# (samples, targets) in Flux's order, the samples last, images (W, H, C, N) of f32 in [0, 1]; or
# nothing where the data lack the part, "" or "test_".
function data(folder, part)
    about = read(joinpath(folder, "data.json"), String)
    function field(name, missing = nothing)  # a word, a number, or the numbers of a list
        found = match(Regex("\"$name\":\\s*(\\[[^\\]]*|\"[^\"]*|\\w+)"), about)
        return isnothing(found) ? missing : strip(found[1], ['[', '"', ' ', '\n'])
    end
    count = parse(Int, field("$(part)samples", "0"))
    count == 0 && return nothing
    shape = parse.(Int, strip.(split(field("sample_shape"), ',')))
    kind = field("target_dtype")
    x = reshape(values_of(joinpath(folder, "$(part)samples.bin"), field("sample_dtype"),
                          prod(shape) * count), reverse(shape)..., count)
    if length(shape) == 3  # (C, W, H, N): the file's last is Julia's first
        x = permutedims(x, (2, 3, 1, 4)) ./ 255f0
    end
    path = joinpath(folder, "$(part)targets.bin")
    width = div(filesize(path), sizeof(TYPES[kind]) * count)
    y = reshape(values_of(path, kind, width * count), width, count)
    kind == "f32" && return (x, y)
    return (x, Flux.onehotbatch(vec(y), 0:parse(Int, field("classes")) - 1))
end

function train_epoch(model, state, loader, loss)
    total = 0.0
    for (x, y) in loader
        value, gradients = Flux.withgradient(m -> loss(m(x), y), model)
        Flux.update!(state, model, gradients[1])
        total += value * size(x)[end]
    end
    return total
end

function predict_all(model, loader)
    finite = true
    for (x, _) in loader
        finite &= isfinite(first(model(x)))
    end
    return finite
end

# (mean loss, accuracy or nothing) of the test part.
function tested(model, loss, (x, y))
    total, right = 0.0, 0
    for (a, b) in Flux.DataLoader((x, y); batchsize = 250)
        outputs = model(a)
        total += loss(outputs, b) * size(a)[end]
        right += y isa Matrix ? 0 : sum(Flux.onecold(outputs) .== Flux.onecold(b))
    end
    count = size(x)[end]
    return total / count, y isa Matrix ? nothing : right / count
end

function peak_bytes()
    line = first(l for l in eachline("/proc/self/status") if startswith(l, "VmHWM"))
    return 1024 * parse(Int, split(line)[2])
end

json(::Nothing) = "null"
json(x::Bool) = string(x)
json(x::Real) = isfinite(x) ? string(x) : "null"
json(x::AbstractString) = "\"" * escape_string(x) * "\""
json(x::AbstractVector) = "[" * join(json.(x), ", ") * "]"
json(x::NamedTuple) = "{" * join(("\"$name\": " * json(x[name]) for name in keys(x)), ", ") * "}"

# A peer's whole program; `network()` must have as many `parameters` as the workload says.
function run(workload, parameters, network, loss, rule)
    asked = options(copy(ARGS))
    Random.seed!(number(asked, "seed"))
    BLAS.set_num_threads(Threads.nthreads())
    began = time()
    folder = asked["data"]
    samples = data(folder, "")
    parts = asked["test"] == "yes" ? data(folder, "test_") : nothing
    data_seconds = time() - began
    model = network()
    count = sum(length, Flux.trainables(model))
    count == parameters || error("$workload has $parameters parameters; this model has $count")
    infer = asked["infer"] == "yes"
    loader = Flux.DataLoader(samples; batchsize = number(asked, "batch"), shuffle = !infer)
    state = Flux.setup(rule, model)
    size_of_epoch = size(samples[1])[end]
    warmup, epochs = number(asked, "warmup"), number(asked, "epochs")
    losses, seconds, tests, finite = Float64[], Float64[], [], true
    for epoch in 1:warmup + epochs
        start = time()
        if infer
            finite &= predict_all(model, loader)
        else
            push!(losses, train_epoch(model, state, loader, loss) / size_of_epoch)
        end
        took = time() - start
        isnothing(parts) || infer || push!(tests, tested(model, loss, parts))
        epoch > warmup && push!(seconds, took)
        println(stderr, "epoch $epoch: $took s, loss $(isempty(losses) ? "-" : losses[end])")
    end
    rates = size_of_epoch ./ seconds
    println(json((
        framework = "flux", workload = workload, device = "cpu", mode = "eager", infer = infer,
        parameters = count, threads = Threads.nthreads(), batch = number(asked, "batch"),
        precision = asked["precision"], samples = size_of_epoch, warmup = warmup, epochs = epochs,
        samples_per_second = (median = median(rates), min = minimum(rates), max = maximum(rates)),
        timed_seconds = seconds, losses = losses, loss = isempty(losses) ? nothing : losses[end],
        test_losses = first.(tests), test_accuracies = last.(tests),
        failed = finite ? nothing : "the outputs are not finite", data_seconds = data_seconds,
        peak_bytes = peak_bytes(),
        versions = (flux = string(pkgversion(Flux)), julia = string(VERSION)))))
end

end
