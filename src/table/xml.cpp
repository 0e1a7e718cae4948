// SPDX-License-Identifier: Apache-2.0
#include "table/xml.h"

#include <expat.h>

#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include "base/check.h"

namespace linnet {
namespace {

constexpr int kDeepest = 64;  // of elements within each other

std::string_view without_prefix(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

}  // namespace

struct XmlReader::State {
  XmlHandlers handlers;
  XML_Parser parser = nullptr;
  std::exception_ptr thrown = nullptr;
  int depth = 0;

  /// Calls `f`; keeps what it throws, since the parser is C.
  template <class F>
  void guarded(const F& f) {
    if (thrown != nullptr) return;
    try {
      f();
    } catch (...) {
      thrown = std::current_exception();
      XML_StopParser(parser, XML_FALSE);
    }
  }

  static void begin(void* data, const char* name, const char** attributes) {
    auto& state = *static_cast<State*>(data);
    state.guarded([&] {
      require<DataError>(++state.depth <= kDeepest, "its elements are more than {} deep", kDeepest);
      std::size_t count = 0;
      while (attributes[count] != nullptr) ++count;
      state.handlers.begin(without_prefix(name), {attributes, count});
    });
  }
  static void end(void* data, const char* name) {
    auto& state = *static_cast<State*>(data);
    --state.depth;
    state.guarded([&] { state.handlers.end(without_prefix(name)); });
  }
  static void text(void* data, const char* text, int size) {
    auto& state = *static_cast<State*>(data);
    state.guarded([&] { state.handlers.text({text, static_cast<std::size_t>(size)}); });
  }
  static void document_type(void* data, const char* /*name*/, const char* /*system*/,
                            const char* /*public_id*/, int /*internal*/) {
    static_cast<State*>(data)->guarded([] {
      fail<DataError>("it has a document type declaration, which spreadsheets do not need");
    });
  }
};

std::string_view attribute(std::span<const char* const> attributes, std::string_view name) {
  for (std::size_t i = 0; i + 1 < attributes.size(); i += 2) {
    if (without_prefix(attributes[i]) == name) return attributes[i + 1];
  }
  return {};
}

XmlReader::XmlReader(XmlHandlers handlers) : state_(new State{.handlers = std::move(handlers)}) {
  state_->parser = XML_ParserCreate(nullptr);
  if (state_->parser == nullptr) {
    delete state_;
    throw std::bad_alloc();
  }
  XML_SetUserData(state_->parser, state_);
  XML_SetElementHandler(state_->parser, State::begin, State::end);
  XML_SetCharacterDataHandler(state_->parser, State::text);
  XML_SetStartDoctypeDeclHandler(state_->parser, State::document_type);
}

XmlReader::~XmlReader() {
  XML_ParserFree(state_->parser);
  delete state_;
}

void XmlReader::feed(std::string_view piece, bool last) {
  const XML_Status status = XML_Parse(state_->parser, piece.data(), static_cast<int>(piece.size()),
                                      last ? XML_TRUE : XML_FALSE);
  if (state_->thrown != nullptr) std::rethrow_exception(state_->thrown);
  require<DataError>(status != XML_STATUS_ERROR, "it is damaged in line {}: {}",
                     XML_GetCurrentLineNumber(state_->parser),
                     XML_ErrorString(XML_GetErrorCode(state_->parser)));
}

}  // namespace linnet
