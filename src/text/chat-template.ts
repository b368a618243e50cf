import { FormatError, UsageError } from '../core/errors.ts';
import type { JsonObject } from './model-folder.ts';

/** A part of a conversation. Models' templates may read more fields than these. */
export interface ChatMessage {
  /** Who says it. */
  readonly role: 'system' | 'user' | 'assistant' | 'tool' | 'developer';
  /** The text of the message; none where an assistant only calls tools. */
  readonly content?: string | null | undefined;
  /** Calls that the assistant made. */
  readonly tool_calls?: readonly ToolCall[] | undefined;
  /** The call that a tool answers. */
  readonly tool_call_id?: string | undefined;
  /** The name of the speaker, for templates that read it. */
  readonly name?: string | undefined;
}

/** A function that the model wants called. */
export interface ToolCall {
  /** Tells it from other calls of the answer. */
  readonly id: string;
  /** Always `function`, the only kind of tool. */
  readonly type: 'function';
  /** Which one, and with what. */
  readonly function: {
    readonly name: string;
    /** The arguments, as JSON. */
    readonly arguments: string;
  };
}

/** A function that the model may want called. */
export interface Tool {
  /** Always `function`, the only kind of tool. */
  readonly type: 'function';
  /** Which one, what it does and what it takes. */
  readonly function: {
    readonly name: string;
    readonly description?: string | undefined;
    /** The parameters, as a JSON schema. */
    readonly parameters?: object | undefined;
  };
}

/** Writes conversations as the model was trained to read them. */
export interface ChatTemplate {
  /** The text up to where the assistant begins. Throws UsageError for what the template refuses. */
  render(messages: readonly ChatMessage[], tools?: readonly Tool[]): string;
}

/**
 * The template of `tokenizer_config.json` or `chat_template.jinja`, run by @huggingface/jinja, which is loaded with it;
 * undefined for models without one.
 */
export async function openChatTemplate(
  config: JsonObject,
  file: string | undefined,
): Promise<ChatTemplate | undefined> {
  const source = file ?? sourceOf(config['chat_template']);
  if (source === undefined) return undefined;
  const { Template } = await import('@huggingface/jinja');
  let template: InstanceType<typeof Template>;
  try {
    template = new Template(source);
  } catch (cause) {
    const got = messageOf(cause);
    throw new FormatError({ where: 'chat template', got, expected: 'a Jinja template' }, { cause });
  }
  const special = specialTokens(config);
  return {
    render(messages, tools) {
      try {
        return template.render({
          ...special,
          messages: messages.map(withObjects),
          add_generation_prompt: true,
          ...(tools !== undefined && tools.length > 0 && { tools }),
        });
      } catch (cause) {
        const expected = 'messages that it takes';
        throw new UsageError(
          { where: 'chat template', got: messageOf(cause), expected },
          { cause },
        );
      }
    },
  };
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** One template, or a list of named ones. */
function sourceOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  const named = value as readonly { readonly name?: unknown; readonly template?: unknown }[];
  const found = named.find(({ name }) => name === 'default')?.template;
  return typeof found === 'string' ? found : undefined;
}

/** `bos_token` and the like, which stand there as text or as objects with their content. */
function specialTokens(config: JsonObject): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(config)) {
    if (!name.endsWith('_token')) continue;
    const content: unknown =
      typeof value === 'object' && value !== null ? (value as JsonObject)['content'] : value;
    if (typeof content === 'string') found[name] = content;
  }
  return found;
}

/** Templates read the arguments of calls as objects. */
function withObjects({ tool_calls: calls, ...message }: ChatMessage): object {
  if (calls === undefined) return message;
  const read = calls.map((call) => ({
    ...call,
    function: { ...call.function, arguments: argumentsOf(call.function.arguments) },
  }));
  return { ...message, tool_calls: read };
}

function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
