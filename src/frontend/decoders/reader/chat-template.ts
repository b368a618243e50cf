import { describe } from '../../../core/check-options.ts';
import { FormatError, UnsupportedError, UsageError, WeftError } from '../../../core/errors.ts';
import { nearestName } from '../../../core/nearest-name.ts';
import type { JsonObject } from '../gguf-folder.ts';
import { packageWords } from './package-words.ts';

/** A part of a conversation. Models' templates may read more fields than these. */
export interface ChatMessage {
  /** Who says it. */
  readonly role: 'system' | 'user' | 'assistant' | 'tool' | 'developer';
  /** The text of the message, or its parts; none where an assistant only calls tools. */
  readonly content?: string | readonly TextPart[] | null | undefined;
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

/** A part of a message, as OpenAI's interface has it. */
interface TextPart {
  /** Always `text`, the only kind of part that is read. */
  readonly type: 'text';
  readonly text: string;
}

/** What a template is given beside the messages. */
export interface TemplateInput {
  readonly tools?: readonly Tool[] | undefined;
  /** Variables of the template, such as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

/** Writes conversations as the model was trained to read them. */
export interface ChatTemplate {
  /**
   * The text up to where the assistant begins. Throws UsageError for what the template refuses and for variables that it
   * does not read, UnsupportedError for parts of messages that are no text, and FormatError where it cannot be run.
   */
  render(messages: readonly ChatMessage[], input?: TemplateInput): string;
}

interface NamedTemplate {
  readonly name: string;
  readonly source: string;
}

/**
 * The template of `tokenizer_config.json` or `chat_template.jinja`, run by @huggingface/jinja, which is loaded with it;
 * undefined for models without one. Of several named ones, `tool_use` is taken for tools.
 */
export async function openChatTemplate(
  config: JsonObject,
  file: string | undefined,
): Promise<ChatTemplate | undefined> {
  const sources =
    file === undefined
      ? sourcesOf(config['chat_template'])
      : [{ name: 'chat_template.jinja', source: file }];
  const [first] = sources;
  if (first === undefined) return undefined;
  const { JinjaTemplate, Refusal } = await import('./jinja-template.ts');
  const open = ({ name, source }: NamedTemplate) => {
    try {
      return { name, source, template: new JinjaTemplate(name, source) };
    } catch (cause) {
      if (cause instanceof WeftError) throw cause;
      const got = packageWords(cause);
      throw new FormatError({ where: name, got, expected: 'a Jinja template' }, { cause });
    }
  };
  const plain = open(sources.find(({ name }) => name.endsWith(' default')) ?? first);
  const ofTools = sources.find(({ name }) => name.endsWith(' tool_use'));
  const withTools = ofTools === undefined ? plain : open(ofTools);
  const special = specialTokens(config);
  return {
    render(messages, { tools = [], variables = {} } = {}) {
      const { name, source, template } = tools.length > 0 ? withTools : plain;
      requireVariables(name, source, variables);
      if (tools.length > 0 && !/\btools\b/.test(source)) {
        const expected = 'none, because the template does not read them';
        throw new UnsupportedError({ where: name, got: 'tools', expected });
      }
      requireRoles(name, source, messages);
      const read = messages.map(asTemplatesRead);
      try {
        return template.render({
          ...special,
          add_generation_prompt: true,
          ...variables,
          messages: read,
          ...(tools.length > 0 && { tools }),
        });
      } catch (cause) {
        if (cause instanceof WeftError) throw cause;
        const got = packageWords(cause);
        if (cause instanceof Refusal) {
          throw new UsageError({ where: name, got, expected: 'messages that it takes' });
        }
        const expected = 'a template that can be run';
        throw new FormatError({ where: name, got, expected }, { cause });
      }
    },
  };
}

const ROLES = ['system', 'user', 'assistant', 'tool', 'developer'];

/** Throws UsageError for a role that the template does not mention. */
function requireRoles(where: string, source: string, messages: readonly ChatMessage[]): void {
  for (const { role } of messages) {
    if (ROLES.includes(role) || [`'${role}'`, `"${role}"`].some((text) => source.includes(text)))
      continue;
    const got = `the role ${describe(role)}`;
    const remedy = nearestName(role, ROLES);
    throw new UsageError({ where, got, expected: `one of ${ROLES.join(', ')}`, remedy });
  }
}

/** Throws UsageError for a variable that the template does not mention. */
function requireVariables(where: string, source: string, variables: object): void {
  for (const name of Object.keys(variables)) {
    const isOwn = !['messages', 'tools', 'range', 'raise_exception'].includes(name);
    if (isOwn && /^\w+$/.test(name) && new RegExp(`\\b${name}\\b`).test(source)) continue;
    throw new UsageError({
      where: `${where}, templateOptions`,
      got: JSON.stringify(name),
      expected: 'the name of a variable that the template reads',
    });
  }
}

/** One template, or a list of named ones. */
function sourcesOf(value: unknown): readonly NamedTemplate[] {
  const where = 'chat_template of tokenizer_config.json';
  if (typeof value === 'string') return [{ name: where, source: value }];
  if (!Array.isArray(value)) return [];
  const named = value as readonly { readonly name?: unknown; readonly template?: unknown }[];
  return named.flatMap(({ name, template }) =>
    typeof template === 'string' ? [{ name: `${where}, ${String(name)}`, source: template }] : [],
  );
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

/** Templates read text as a string, and the arguments of calls as objects. */
function asTemplatesRead({ tool_calls: calls, content, ...message }: ChatMessage): object {
  const read = calls?.map((call) => ({
    ...call,
    function: { ...call.function, arguments: argumentsOf(call.function.arguments) },
  }));
  return { ...message, content: textOf(content), ...(read && { tool_calls: read }) };
}

/** The parts in lines of their own; no content is the empty text. */
function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const lines = parts.flatMap((part): readonly string[] => {
    if (part === null || part === undefined) return [];
    const { type, text } = Object(part) as Partial<TextPart>;
    if (type === 'text' && typeof text === 'string') return [text];
    const got = type === undefined ? describe(part) : `a part of type ${describe(type)}`;
    const remedy = 'Models that read pictures and sounds are not supported.';
    throw new UnsupportedError({ where: 'content of a message', got, expected: 'text', remedy });
  });
  return lines.join('\n');
}

function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
