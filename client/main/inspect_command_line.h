// The words of `hydrant inspect`.
#ifndef HYDRANT_CLIENT_MAIN_INSPECT_COMMAND_LINE_H_
#define HYDRANT_CLIENT_MAIN_INSPECT_COMMAND_LINE_H_

#include "client/main/verb_tree.h"

namespace hydrant::client {

void AddInspectVerbs(VerbTree& tree);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_MAIN_INSPECT_COMMAND_LINE_H_
