// Where the program's words go: results to standard output, errors and progress to standard error.
#ifndef HYDRANT_CLIENT_CONSOLE_H_
#define HYDRANT_CLIENT_CONSOLE_H_

#include <string>
#include <string_view>

#include "client/format/screen.h"
#include "client/settings.h"

namespace hydrant::client {

// One thread.
class Console {
 public:
  virtual ~Console() = default;
  virtual void Out(std::string_view text) = 0;
  virtual void Err(std::string_view text) = 0;
  virtual const Screen& out_screen() const = 0;
  virtual const Screen& err_screen() const = 0;
};

class StdConsole final : public Console {
 public:
  // Looks at the standard streams and at NO_COLOR, TERM, COLUMNS, LC_ALL, LC_CTYPE, LANG.
  explicit StdConsole(const Environment& environment);
  void Out(std::string_view text) override;
  void Err(std::string_view text) override;
  const Screen& out_screen() const override { return out_; }
  const Screen& err_screen() const override { return err_; }
  // False when a result could not be written (a full disk).
  bool ok() const { return ok_; }

 private:
  Screen out_, err_;
  bool ok_ = true;
};

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_CONSOLE_H_
