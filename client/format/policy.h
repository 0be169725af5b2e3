// What is said of variants beside their states: what Hydra would skip, what consistency rules found, who may have them.
#ifndef HYDRANT_CLIENT_FORMAT_POLICY_H_
#define HYDRANT_CLIENT_FORMAT_POLICY_H_

#include <span>
#include <string>
#include <vector>

#include "client/format/grid_layout.h"
#include "client/format/writer.h"

namespace hydrant::client {

// Head of the grid's column.
inline constexpr char kHydraHead[] = "Hydra skips";
// A word for cells of a row: "unfree" (all), "unfree 2/6" (two of the six that are known), "no", or "" where nothing is
// known. Of several reasons the most frequent one. A null cell is none.
std::string HydraWord(std::span<const v1::VariantStatus* const> cells);
// The most columns that any such word takes, in a grid with so many columns.
int HydraWidth(const Variants& variants, size_t columns);

// Behind a cell's mark: "!" for findings, "*" for what is private; "" for most.
std::string PolicyMarks(const v1::VariantStatus& variant);
struct PolicyLegend {
  const char* mark;
  const char* words;  // behind a count: "with findings"
  int64_t count;
};
// Those that occur.
std::vector<PolicyLegend> PolicyLegends(const Variants& variants);

// Variants of one rule and one message.
struct FindingGroup {
  v1::Finding finding;  // of the first one
  std::vector<const v1::VariantStatus*> variants;
};
std::vector<FindingGroup> GroupFindings(const Variants& variants);

// "2022 (nixpkgs 22.11: it has pkgs/top-level/cuda-packages.nix)": the recipes that made the variants, each
// once.
std::vector<std::string> RecipesOf(const Variants& variants);

// Sections of a status: nothing where there is nothing to say.
void WriteHydraSection(const Variants& variants, Writer& writer);
void WriteFindings(const Variants& variants, Writer& writer);
std::string MarkdownHydraSection(const Variants& variants);
std::string MarkdownFindings(const Variants& variants);

// All that is known of one variant, for an explanation.
void WriteFacts(const v1::VariantStatus& variant, Writer& writer);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_POLICY_H_
