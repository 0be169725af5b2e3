// Builds text for a screen piece by piece. Every piece is cleaned, so that nothing from a farm reaches the
// terminal as an escape sequence; colours come from styles alone.
#ifndef HYDRANT_CLIENT_FORMAT_WRITER_H_
#define HYDRANT_CLIENT_FORMAT_WRITER_H_

#include <string>
#include <string_view>
#include <utility>

#include "client/format/screen.h"

namespace hydrant::client {

enum class Style { kPlain, kBold, kDim, kGood, kBad, kBusy, kWarn };

class Writer {
 public:
  explicit Writer(const Screen& screen) : screen_(screen) {}

  Writer& Text(std::string_view text, Style style = Style::kPlain);
  // Words wrapped at the screen's width, each line indented.
  Writer& Paragraph(std::string_view text, int indent, Style style = Style::kPlain);
  Writer& Spaces(int count);
  Writer& Line();  // ends the line; blanks at its end go
  const Screen& screen() const { return screen_; }
  std::string Take() { return std::exchange(out_, {}); }

 private:
  Screen screen_;
  std::string out_;
};

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_WRITER_H_
