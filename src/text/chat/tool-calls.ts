import type { ToolCall } from '../../frontend/decoders/reader/chat-template.ts';

/** `<tool_call>{"name": …, "arguments": …}</tool_call>`, as Hermes and Qwen write it. */
const TAGGED = /<tool_call>\s*([\s\S]*?)\s*<\/tool_call>/g;

/** Text without the calls of tools in it, and these. */
interface ParsedCalls {
  readonly content: string;
  readonly calls: readonly ToolCall[];
}

/**
 * Finds calls of tools in what a model wrote: in `<tool_call>` tags, or as a text that is all JSON
 * with a `name` and `arguments` or `parameters`, as Llama 3 writes it. Anything else stays text.
 */
export function parseToolCalls(text: string, names: ReadonlySet<string>): ParsedCalls {
  const calls: ToolCall[] = [];
  const take = (source: string): boolean => {
    const call = callOf(source, names, calls.length);
    if (call !== undefined) calls.push(call);
    return call !== undefined;
  };
  const content = text.replaceAll(TAGGED, (all: string, source: string) =>
    take(source) ? '' : all,
  );
  if (calls.length === 0 && take(text.trim().replace(/^<\|python_tag\|>/, ''))) {
    return { content: '', calls };
  }
  return { content: calls.length === 0 ? text : content.trim(), calls };
}

function callOf(source: string, names: ReadonlySet<string>, index: number): ToolCall | undefined {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, arguments: given, parameters } = value as Record<string, unknown>;
  if (typeof name !== 'string' || !names.has(name)) return undefined;
  const read = given ?? parameters ?? {};
  const written = typeof read === 'string' ? read : JSON.stringify(read);
  return { id: `call_${index}`, type: 'function', function: { name, arguments: written } };
}
