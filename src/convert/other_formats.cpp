// SPDX-License-Identifier: Apache-2.0
#include "convert/other_formats.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"

namespace linnet {
namespace {

struct Format {
  std::string_view ending;
  std::string_view way;
};

constexpr std::string_view kTorch =
    "a PyTorch pickle runs code when it is read; convert it in Python by "
    "safetensors.torch.save_file(torch.load(...), 'x.safetensors')";
constexpr std::string_view kKeras =
    "convert it in Python by numpy.savez('x.npz', **{v.path: v.numpy() for v in model.variables})";
constexpr std::string_view kPickle =
    "a pickle runs code when it is read; write the scikit-learn model as ONNX by "
    "skl2onnx.to_onnx(model, x)";
constexpr std::string_view kCoreMl =
    "Core ML's form has no way back; write the model that it was made of as ONNX";
constexpr std::array kFormats{
    Format{".pth", kTorch},
    Format{".pt", kTorch},
    Format{".bin", kTorch},
    Format{".ckpt", kTorch},
    Format{".h5", kKeras},
    Format{".hdf5", kKeras},
    Format{".keras", kKeras},
    Format{".pkl", kPickle},
    Format{".pickle", kPickle},
    Format{".joblib", kPickle},
    Format{".pt2",
           "write the exported program as ONNX by torch.onnx.export(torch.export.load('x.pt2'), "
           "f='x.onnx')"},
    Format{".pb",
           "write the saved model's folder as ONNX by `python -m tf2onnx.convert --saved-model "
           "FOLDER --output x.onnx`"},
    Format{".tflite",
           "write it as ONNX by `python -m tf2onnx.convert --tflite x.tflite --output x.onnx`"},
    Format{".gguf",
           "llama.cpp's form of weights is not read; take the .safetensors that it was made of"},
    Format{
        ".xml",
        "OpenVINO's form (.xml and .bin) has no way back; convert the ONNX file that it was made "
        "of"},
    Format{".mlmodel", kCoreMl},
    Format{".mlpackage", kCoreMl},
};

}  // namespace

std::string_view way_from_other_format(const std::filesystem::path& path) {
  const std::string ending = lower_ascii(path.extension().string());
  const auto* found = std::ranges::find(kFormats, ending, &Format::ending);
  return found == kFormats.end() ? std::string_view() : found->way;
}

}  // namespace linnet
