/**
 * Content parts and messages, as a model and a session file see them.
 *
 * @module
 */

/** A piece of text in a message or a tool result. */
export interface TextContent {
  /** Discriminator. */
  type: "text";
  /** The text itself. */
  text: string;
}

/** A picture in a message or a tool result. */
export interface ImageContent {
  /** Discriminator. */
  type: "image";
  /** The picture's bytes in base64. */
  data: string;
  /** MIME type, for example `image/png`. */
  mimeType: string;
}

/** Reasoning that a model showed before its answer. */
export interface ThinkingContent {
  /** Discriminator. */
  type: "thinking";
  /** The reasoning as text. */
  thinking: string;
  /** Opaque proof that some providers want back with the text. */
  thinkingSignature?: string;
}

/** A model's wish to run a tool. */
export interface ToolCall {
  /** Discriminator. */
  type: "toolCall";
  /** Identifies the call; the result carries it as `toolCallId`. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** Arguments by name, as the model wrote them. */
  arguments: Record<string, unknown>;
}

/** What people and tools may say: text and pictures. */
export type UserContent = TextContent | ImageContent;

/** What an assistant message may hold. */
export type AssistantContent = TextContent | ThinkingContent | ToolCall;

/** Tokens and cost of one answer. */
export interface Usage {
  /** Prompt tokens that were not cached. */
  input: number;
  /** Tokens of the answer. */
  output: number;
  /** Prompt tokens read from the provider's cache. */
  cacheRead: number;
  /** Prompt tokens written to the provider's cache. */
  cacheWrite: number;
  /** Sum of the four. */
  totalTokens: number;
  /** Cost in USD. */
  cost?: {
    /** USD for `input`. */
    input: number;
    /** USD for `output`. */
    output: number;
    /** USD for `cacheRead`. */
    cacheRead: number;
    /** USD for `cacheWrite`. */
    cacheWrite: number;
    /** Sum of the four, in USD. */
    total: number;
  };
}

/** Why an assistant stopped. */
export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

/** Something a person said. */
export interface UserMessage {
  /** Discriminator. */
  role: "user";
  /** Text, or text and pictures. */
  content: string | UserContent[];
  /** Whether a person or the agent itself caused it; a person when absent. */
  attribution?: "user" | "agent";
  /** Unix time in ms. */
  timestamp: number;
}

/** An instruction of the agent's developer. */
export interface DeveloperMessage {
  /** Discriminator. */
  role: "developer";
  /** Text, or text and pictures. */
  content: string | UserContent[];
  /** Whether a person or the agent itself caused it. */
  attribution?: "user" | "agent";
  /** Unix time in ms. */
  timestamp: number;
}

/** One answer of the model. */
export interface AssistantMessage {
  /** Discriminator. */
  role: "assistant";
  /** Text, reasoning and tool calls in the order in which they came. */
  content: AssistantContent[];
  /** Kind of interface the model was reached by. */
  api?: string;
  /** Who serves the model. */
  provider?: string;
  /** The model's id at that provider. */
  model?: string;
  /** Tokens and cost, when the provider told. */
  usage?: Usage;
  /** Why the answer ended. */
  stopReason: StopReason;
  /** What went wrong, with `stopReason: "error"` or `"aborted"`. */
  errorMessage?: string;
  /** Names of the stream rules that stopped it; the model does not read such an answer again. */
  interruptedBy?: string[];
  /** Unix time in ms. */
  timestamp: number;
}

/** What a tool answered. */
export interface ToolResultMessage {
  /** Discriminator. */
  role: "toolResult";
  /** The call that this answers. */
  toolCallId: string;
  /** Name of the tool. */
  toolName: string;
  /** What the model reads. */
  content: UserContent[];
  /** What programs read; never sent to the model. */
  details?: unknown;
  /** Whether the tool failed or was blocked. */
  isError: boolean;
  /** Unix time in ms. */
  timestamp: number;
}

/** A command that the person ran by hand. */
export interface BashExecutionMessage {
  /** Discriminator. */
  role: "bashExecution";
  /** The command line. */
  command: string;
  /** Its output, both streams together. */
  output: string;
  /** Its exit code, if it ended by itself. */
  exitCode?: number | null;
  /** Whether the person stopped it. */
  cancelled?: boolean;
  /** Whether `output` was cut. */
  truncated?: boolean;
  /** Keep it from the model. */
  excludeFromContext?: boolean;
  /** Unix time in ms. */
  timestamp: number;
}

/** A message that a hook added. The model reads it as a user's message. */
export interface CustomMessage<T = unknown> {
  /** Discriminator. */
  role: "custom";
  /** The hook's own name for this kind of message; picks the renderer. */
  customType: string;
  /** What the model reads. */
  content: string | UserContent[];
  /** Whether people see it; the model always does. */
  display: boolean;
  /** The hook's own data; never sent to the model. */
  details?: T;
  /** Who caused it; the agent when absent. */
  attribution?: "user" | "agent";
  /** Unix time in ms. */
  timestamp: number;
}

/** What stands in for a branch that was left. */
export interface BranchSummaryMessage {
  /** Discriminator. */
  role: "branchSummary";
  /** The summary. */
  summary: string;
  /** Entry at which the branch was left, or `"root"`. */
  fromId: string;
  /** Unix time in ms. */
  timestamp: number;
}

/** What stands in for the messages that a compaction took away. */
export interface CompactionSummaryMessage {
  /** Discriminator. */
  role: "compactionSummary";
  /** The summary. */
  summary: string;
  /** Tokens in the context before the compaction. */
  tokensBefore: number;
  /** Unix time in ms. */
  timestamp: number;
}

/** Any message of a session, before it is turned into what a provider takes. */
export type AgentMessage =
  | UserMessage
  | DeveloperMessage
  | AssistantMessage
  | ToolResultMessage
  | BashExecutionMessage
  | CustomMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage;

/** Joins the text parts of a message's content, one a line. */
export function textOf(content: string | readonly { type: string; text?: string }[]): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  // A file of a session may hold parts that are none.
  return content.flatMap((part) => part?.type === "text" && typeof part.text === "string" ? [part.text] : []).join(
    "\n",
  );
}
