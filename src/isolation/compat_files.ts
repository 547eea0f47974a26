/**
 * The modules that a child needs beside its own to import the way other hosts do, as text.
 *
 * @module
 */

import bootCompat from "./boot_compat.ts" with { type: "text" };
import fromNpm from "../compat/from_npm.ts" with { type: "text" };
import register from "../compat/register.ts" with { type: "text" };
import registerNow from "../compat/register_now.ts" with { type: "text" };
import resolve from "../compat/resolve.ts" with { type: "text" };
import source from "../compat/source.ts" with { type: "text" };
import standIns from "../compat/stand_ins.ts" with { type: "text" };
import standInsPiAgentCore from "../compat/stand_ins/pi_agent_core.ts" with { type: "text" };
import standInsPiAi from "../compat/stand_ins/pi_ai.ts" with { type: "text" };
import standInsPiCodingAgent from "../compat/stand_ins/pi_coding_agent.ts" with { type: "text" };
import standInsPiTui from "../compat/stand_ins/pi_tui.ts" with { type: "text" };
import standInsSchemaCheck from "../compat/stand_ins/schema_check.ts" with { type: "text" };
import standInsTypebox from "../compat/stand_ins/typebox.ts" with { type: "text" };
import standInsTypeboxCompiler from "../compat/stand_ins/typebox_compiler.ts" with { type: "text" };
import standInsTypeboxValue from "../compat/stand_ins/typebox_value.ts" with { type: "text" };
import taken from "../compat/taken.ts" with { type: "text" };
import uiText from "../ui/text.ts" with { type: "text" };

/** Text of each module by its path, relative to the folder of sources. */
export const COMPAT_FILES: Readonly<Record<string, string>> = {
  "isolation/boot_compat.ts": bootCompat,
  "compat/from_npm.ts": fromNpm,
  "compat/register.ts": register,
  "compat/register_now.ts": registerNow,
  "compat/resolve.ts": resolve,
  "compat/source.ts": source,
  "compat/stand_ins.ts": standIns,
  "compat/stand_ins/pi_agent_core.ts": standInsPiAgentCore,
  "compat/stand_ins/pi_ai.ts": standInsPiAi,
  "compat/stand_ins/pi_coding_agent.ts": standInsPiCodingAgent,
  "compat/stand_ins/pi_tui.ts": standInsPiTui,
  "compat/stand_ins/schema_check.ts": standInsSchemaCheck,
  "compat/stand_ins/typebox.ts": standInsTypebox,
  "compat/stand_ins/typebox_compiler.ts": standInsTypeboxCompiler,
  "compat/stand_ins/typebox_value.ts": standInsTypeboxValue,
  "compat/taken.ts": taken,
  "ui/text.ts": uiText,
};
