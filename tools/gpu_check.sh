#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything that needs a GPU, in one call of under 9 minutes: build for sm_90, operator tests on
# the device, compute-sanitizer, loss curves against the CPU, benchmarks beside PyTorch, and a table
# at the end. A phase that fails or runs out of its time is reported and the next one starts.
#
# On the lent machine (tool `run`): tools/gpu_deps.sh here, once, and then
#   run {"command": "tools/gpu_check.sh", "carry": [".deps"], "timeout_s": 590}
# On a machine with a GPU and the packages of tools/packages.txt: tools/gpu_check.sh. Arguments
# choose phases by name: build tests memcheck racecheck numerics linnet torch. GPU_CHECK_SECONDS (525)
# bounds all of it. Results: $OUT, or benchmarks/results/gpu-<date>; 8 files, as $OUT takes no more.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
self=$PWD/tools/gpu_check.sh
export out=${OUT:-$PWD/benchmarks/results/gpu-$(date +%F-%H%M)}
export build=$PWD/build/gpu deps=$PWD/build/gpu-deps
export linnet=$build/bin/linnet
jobs=$(nproc)
((jobs <= 16)) || jobs=16
python=$(command -v python3)
shards=4

# The folders of a Python's nvidia/* packages: PyTorch brings cuDNN and cuBLASLt in them.
nvidia_folders() {
  "$python" -c 'import glob, sysconfig
for key in ("purelib", "platlib"):
    print("\n".join(glob.glob(sysconfig.get_paths()[key] + "/nvidia/*")))' | sort -u
}
first_file() {
  local file
  for file in "$@"; do
    [[ -e $file ]] && { echo "$file"; return; }
  done
  return 1
}
find_tool() {
  command -v "$1" ||
    first_file /usr/local/cuda/bin/"$1" $(nvidia_folders | sed "s|$|/bin/$1|")
}

run_machine() {
  nvidia-smi
  uname -a
  nproc
  g++ --version | head -n 1
  cmake --version | head -n 1
  "$(find_tool nvcc)" --version | tail -n 2
  "$python" -c 'import torch; print("torch", torch.__version__, torch.backends.cudnn.version())'
}

run_configure() {
  local nvcc toolkit folder library options=()
  nvcc=$(find_tool nvcc) || { echo "there is no nvcc"; return 1; }
  toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
  if [[ -f .deps/deps.tar.gz ]]; then
    mkdir -p "$deps" && tar -C "$deps" -xzf .deps/deps.tar.gz || return 1
    options+=("-DCMAKE_PREFIX_PATH=$deps" "-DCUDNN_FRONTEND_INCLUDE_DIR=$deps/include"
              "-DCMAKE_BUILD_RPATH=$deps/lib/x86_64-linux-gnu")
    # RPATH instead of RUNPATH: what a library of .deps needs is looked for there as well.
    local kind flags="-Wl,--disable-new-dtags -Wl,-rpath-link,$deps/lib/x86_64-linux-gnu"
    for kind in EXE SHARED MODULE; do
      options+=("-DCMAKE_${kind}_LINKER_FLAGS=$flags")
    done
  fi
  local folders=()
  mapfile -t folders < <(nvidia_folders)
  for folder in "${folders[@]}"; do
    [[ -f $folder/include/cudnn.h ]] && options+=("-DLINNET_CUDNN_ROOT=$folder")
  done
  # nvcc's own folder may hold neither cuBLASLt's library nor its header.
  if ! first_file "$toolkit"/{lib64,lib,targets/x86_64-linux/lib}/libcublasLt.so >/dev/null; then
    library=$(first_file "$toolkit"/lib*/libcublasLt.so.13 \
                         "${folders[@]/%//lib/libcublasLt.so.13}") &&
      options+=("-DCUDA_cublasLt_LIBRARY=$library")
  fi
  if ! first_file "$toolkit"/{include,targets/x86_64-linux/include}/cublasLt.h >/dev/null; then
    library=$(first_file "${folders[@]/%//include/cublasLt.h}") &&
      export CPLUS_INCLUDE_PATH=${library%/*}${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}
  fi
  echo "include: ${CPLUS_INCLUDE_PATH:-}" && printf '%s\n' "${options[@]}"
  [[ -n ${CPLUS_INCLUDE_PATH:-} ]] && echo "$CPLUS_INCLUDE_PATH" >build/gpu-include
  # Debian's CMake packages of 2022 ask for less than CMake 4 gives without being told.
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_COMPILER="$nvcc" \
    -DLINNET_CUDA=ON -DLINNET_CUDA_CODE=arch=compute_90,code=sm_90 -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
    "${options[@]}"
}

run_build() {
  [[ -f build/gpu-include ]] && export CPLUS_INCLUDE_PATH=$(<build/gpu-include)
  ninja -C "$build" -k 0 -j "$jobs" linnet_cuda_plugin op_test_cuda linnet_command &&
    "$linnet" devices
}

# cuDNN opens NVRTC by name. Only for Linnet's programs: PyTorch finds its own.
cuda_paths() {
  local folder
  for folder in $(nvidia_folders); do
    [[ -d $folder/lib ]] && export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder/lib
  done
}

# All cases in several processes at once, below the command given; 1 if one of them fails.
sharded() {
  local shard status=0 pids=()
  for ((shard = 0; shard < shards; ++shard)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard OMP_NUM_THREADS=2 \
      "$@" "$build/bin/op_test_cuda" --gtest_brief=1 >"$build/shard-$$-$shard" 2>&1 &
    pids+=($!)
  done
  for ((shard = 0; shard < shards; ++shard)); do
    wait "${pids[shard]}" || status=1
  done
  cat "$build/shard-$$"-*
  return "$status"
}
run_tests() { cuda_paths; sharded env; }
run_sanitizer() {
  cuda_paths
  local sanitizer only=()
  sanitizer=$(find_tool compute-sanitizer) || { echo "there is no compute-sanitizer"; return 1; }
  # Own kernels only: the libraries' are many, and not ours to check.
  "$sanitizer" --help 2>&1 | grep -q -- '--kernel-name ' && only=(--kernel-name kns=linnet)
  sharded "$sanitizer" --tool "$1" --error-exitcode 9 --print-limit 20 "${only[@]}"
}

# A workload on data that want no network, in whole batches as PyTorch's graphs want them.
linnet_bench() {
  local data=()
  [[ $1 == mnist-cnn ]] && data=(--dataset digits)
  "$linnet" bench "$@" "${data[@]}"
}

run_numerics() {
  cuda_paths
  local shape precision run status=0
  for shape in "mnist-cnn --batch 128 --samples 512 --epochs 25" \
               "rosenbrock-mlp --batch 1000 --samples 4000 --epochs 25" \
               "resnet50-cifar10 --batch 64 --samples 256 --epochs 2"; do
    for run in "cuda --precision "{fp32,auto,tf32,bf16} cpu; do
      # 3: the loss does not fall, which is for the report to judge.
      # shellcheck disable=SC2086
      linnet_bench $shape --warmup 0 --device $run --json - || (($? == 3)) || status=1
    done
  done >"$out/numerics.jsonl"
  "$python" tools/gpu_report.py numerics "$out/numerics.jsonl" || status=1
  return "$status"
}

run_bench() {
  cuda_paths
  linnet_bench "$@" --device cuda --warmup 2 --json - >>"$out/benchmarks.jsonl"
}
run_peer() {
  local data=$build/data-$1-$3
  local program=benchmarks/peers/torch/$2
  if [[ ! -f $data/data.json ]]; then
    (cuda_paths; linnet_bench "$1" --batch "$3" ${4:+--samples "$4"} --export "$data") ||
      return 1
  fi
  TORCHINDUCTOR_CACHE_DIR=$build/inductor PYTHONDONTWRITEBYTECODE=1 \
    "$python" "$program" --data "$data" --batch "$3" "${@:5}" >>"$out/benchmarks.jsonl"
}

if [[ ${1:-} == --run ]]; then
  shift
  "$@"
  exit
fi

deadline=${GPU_CHECK_SECONDS:-525}
wanted=("$@")
mkdir -p "$out" "$build"
: >"$out/phases.txt"
[[ " ${wanted[*]} " == *" linnet "* || ${#wanted[@]} == 0 ]] && : >"$out/benchmarks.jsonl"
failed=0

# phase <group> <seconds> <file> <function> [arguments]: one part, within its time and what is left.
phase() {
  local group=$1 limit=$2 file=$3 start=$SECONDS left=$((deadline - SECONDS)) status=0 word=ok
  shift 3
  [[ ${#wanted[@]} == 0 || " ${wanted[*]} " == *" $group "* ]] || return 0
  ((limit <= left)) || limit=$left
  if ((limit < 5)); then
    word="left out: no time"
    status=1
  else
    printf '\n== %s\n' "$*" >>"$out/$file"
    timeout --kill-after=5 "$limit" bash "$self" --run "$@" >>"$out/$file" 2>&1 || status=$?
    case $status in
      0) ;;
      124 | 137) word="stopped after $limit s" ;;
      *) word="failed ($status)" ;;
    esac
  fi
  ((status == 0)) || failed=$((failed + 1))
  printf '%-9s %4d s  %-22s %s\n' "$group" $((SECONDS - start)) "$word" "${*:2}" | sed 's/ *$//' |
    tee -a "$out/phases.txt"
}

phase build 30 build.txt run_machine
phase build 60 build.txt run_configure
phase build 200 build.txt run_build
phase tests 90 tests.txt run_tests
phase memcheck 60 sanitizer.txt run_sanitizer memcheck
phase racecheck 60 sanitizer.txt run_sanitizer racecheck
phase numerics 60 numerics.txt run_numerics
mnist=(mnist-cnn --epochs 20)
small=9984 large=9216  # whole batches of 128 and 1024
resnet=(resnet50-cifar10 --samples 12800 --epochs 5)
mlp=(rosenbrock-mlp --epochs 20)
peer=(resnet50-cifar10 resnet50_cifar.py 128 12800 --epochs 3)
phase linnet 20 bench.txt run_bench "${mnist[@]}" --batch 128 --samples $small
phase linnet 20 bench.txt run_bench "${mnist[@]}" --batch 1024 --samples $large
phase linnet 40 bench.txt run_bench "${resnet[@]}" --batch 128
phase linnet 20 bench.txt run_bench "${mlp[@]}" --batch 8000
phase linnet 15 bench.txt run_bench flux-cnn --samples 25600
phase linnet 15 bench.txt run_bench vgg-cifar10 --samples 25600
phase linnet 15 bench.txt run_bench gru-imdb --samples 12800
phase linnet 30 bench.txt run_bench densenet121-xray --samples 640 --epochs 2
phase linnet 15 bench.txt run_bench resnet50-features --mode infer
phase torch 30 bench.txt run_peer mnist-cnn mnist_cnn.py 128 $small --mode eager
phase torch 30 bench.txt run_peer mnist-cnn mnist_cnn.py 128 $small --mode graph
phase torch 30 bench.txt run_peer mnist-cnn mnist_cnn.py 1024 $large --mode eager
phase torch 40 bench.txt run_peer "${peer[@]}" --mode eager
phase torch 40 bench.txt run_peer "${peer[@]}" --mode graph
phase torch 30 bench.txt run_peer rosenbrock-mlp rosenbrock_mlp.py 8000 "" --mode eager
phase torch 30 bench.txt run_peer rosenbrock-mlp rosenbrock_mlp.py 8000 "" --mode graph
phase torch 60 bench.txt run_peer mnist-cnn mnist_cnn.py 128 $small --mode max-autotune
for precision in fp32 bf16; do
  phase linnet 20 bench.txt run_bench "${mnist[@]}" --batch 128 --samples $small --precision "$precision"
  phase linnet 40 bench.txt run_bench "${resnet[@]}" --batch 128 --precision "$precision"
  phase linnet 20 bench.txt run_bench "${mlp[@]}" --batch 8000 --precision "$precision"
done
phase linnet 20 bench.txt run_bench "${mnist[@]}" --batch 128 --samples $small --graph off
phase linnet 20 bench.txt run_bench "${mnist[@]}" --batch 128 --samples $small --graph 8
phase torch 60 bench.txt run_peer rosenbrock-mlp rosenbrock_mlp.py 8000 "" --mode max-autotune
phase torch 60 bench.txt run_peer mnist-cnn mnist_cnn.py 128 $small --mode reduce-overhead
phase torch 60 bench.txt run_peer mnist-cnn mnist_cnn.py 128 $small --mode compiled-graph
phase torch 90 bench.txt run_peer "${peer[@]}" --mode reduce-overhead
phase torch 200 bench.txt run_peer "${peer[@]}" --mode max-autotune

printf '\n'
[[ -s $out/numerics.txt ]] && sed -n '/^curve/p' "$out/numerics.txt"
[[ -s $out/benchmarks.jsonl ]] && "$python" tools/gpu_report.py table "$out/benchmarks.jsonl"
grep -hE '^\[  FAILED  \] [A-Za-z0-9_]+\.|ERROR SUMMARY|RACECHECK SUMMARY' \
  "$out"/{tests,sanitizer}.txt 2>/dev/null | sort | uniq -c | sort -rn | head -n 30
printf '\n%d phases did not end well; %d s; results in %s\n' "$failed" "$SECONDS" "$out"
((failed == 0))
