#include "lib/matrix/audit_rule.h"

namespace hydrant {
namespace {

constexpr AuditRule kRules[] = {
    {kDuplicateModules, "one Python module comes from two derivations"},
    {kTwoCudaReleases, "two CUDA releases meet in one closure"},
    {kTwoCudaFlavours,
     "CUDA's components come both from the redistributables and from the runfile installer"},
    {kNamedPackage, "cudnn, nccl, magma or cudatoolkit is not the slice's own"},
    {kCudaSupport, "passthru.cudaSupport is not what the slice asks for"},
    {kCudaVersion, "the package's own CUDA is not the slice's"},
    {kCapabilities, "the package's own capabilities are not the slice's"},
    {kPython, "the package's interpreter is not the slice's"},
    {kForcesUnfree, "a harmless question about the package forces an unfree one"},
};

}  // namespace

std::span<const AuditRule> AuditRules() { return kRules; }

}  // namespace hydrant
