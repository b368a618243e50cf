import type { Command, Option } from 'commander';
import { shellQuoted } from '../core/shell-quoted.ts';

/** Shells for which there is a script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** A command as completion sees it: the words that lead to it, and what may follow. */
interface Completed {
  /** Below the program: `['rpc', 'serve']`. */
  readonly path: readonly string[];
  readonly command: Command;
  readonly commands: readonly Command[];
  readonly options: readonly Option[];
}

/** A script that completes the commands of a program, their options and the values of those, and files. */
export function completionScript(program: Command, shell: Shell): string {
  const all = [...commandsBelow(program, [])];
  switch (shell) {
    case 'bash':
      return bashScript(program.name(), all);
    case 'zsh':
      return zshScript(program.name(), all);
    case 'fish':
      return fishScript(program.name(), all);
    default:
      return shell satisfies never;
  }
}

function* commandsBelow(command: Command, path: readonly string[]): Generator<Completed, void> {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((each) => each.name() !== 'help');
  yield { path, command, commands, options: help.visibleOptions(command) };
  for (const each of commands) yield* commandsBelow(each, [...path, each.name()]);
}

const flagsOf = ({ short, long }: Option): string[] => [short, long].filter((flag) => flag != null);

const takesValue = ({ required, optional }: Option): boolean => required || optional;

function bashScript(name: string, all: readonly Completed[]): string {
  const known = all.flatMap(({ path, commands }) =>
    commands.map((command) => `"${[...path, command.name()].join(' ')}"`),
  );
  const values = all.flatMap(({ path, options }) =>
    options.filter(takesValue).flatMap((option) => {
      const patterns = flagsOf(option).map((flag) => `"${path.join(' ')}:${flag}"`);
      const words = option.argChoices?.join(' ');
      const reply = words === undefined ? 'files' : `words ${shellQuoted(words)}`;
      return `    ${patterns.join(' | ')}) _${name}_${reply}; return ;;`;
    }),
  );
  const words = all.map(({ path, commands, options }) => {
    const list = [...commands.map((command) => command.name()), ...options.flatMap(flagsOf)];
    const files = commands.length === 0 ? `; [[ "$current" == -* ]] || _${name}_files` : '';
    return `    "${path.join(' ')}") _${name}_words ${shellQuoted(list.join(' '))}${files} ;;`;
  });
  return `# Completion of ${name} for bash: source <(${name} completion bash)
_${name}_words() { COMPREPLY+=($(compgen -W "$1" -- "$current")); }
_${name}_files() { compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$current")); }
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" place="" word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case "\${place:+$place }$word" in
      ${known.join(' | ')}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place:$before" in
${values.join('\n')}
  esac
  case "$place" in
${words.join('\n')}
  esac
}
complete -F _${name} ${name}
`;
}

function zshScript(name: string, all: readonly Completed[]): string {
  const functionName = (path: readonly string[]): string => ['', name, ...path].join('_');
  const functions = all.map(({ path, command, commands, options }) => {
    const specs = options.flatMap(zshOption);
    const rest =
      commands.length > 0
        ? ["'1: :->command'", "'*:: :->rest'"]
        : command.registeredArguments.length > 0
          ? ["'*:file:_files'"]
          : [];
    const lines = [
      `${functionName(path)}() {`,
      '  local context state state_descr line',
      '  typeset -A opt_args',
      `  _arguments -C \\\n    ${[...specs, ...rest].join(' \\\n    ')}`,
    ];
    if (commands.length > 0) {
      const list = commands.map((each) =>
        shellQuoted(`${each.name()}:${zshText(each.summary() || each.description())}`),
      );
      const cases = commands.map(
        (each) => `      ${each.name()}) ${functionName([...path, each.name()])} ;;`,
      );
      lines.push(
        `  local -a commands=(\n    ${list.join('\n    ')}\n  )`,
        '  case $state in',
        `    command) _describe -t commands command commands ;;`,
        `    rest) case $line[1] in\n${cases.join('\n')}\n    esac ;;`,
        '  esac',
      );
    }
    return [...lines, '}'].join('\n');
  });
  return `#compdef ${name}
# Completion of ${name} for zsh: source <(${name} completion zsh)
${functions.join('\n')}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function zshOption(option: Option): string[] {
  const values = option.argChoices === undefined ? '_files' : `(${option.argChoices.join(' ')})`;
  const value = takesValue(option) ? `:value:${values}` : '';
  return flagsOf(option).map((flag) =>
    shellQuoted(`*${flag}[${zshText(option.description)}]${value}`),
  );
}

/** Text between the brackets, or behind the colon, of a specification. */
const zshText = (text: string): string => text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);

function fishScript(name: string, all: readonly Completed[]): string {
  const lines = all.flatMap(({ path, commands, options }) => {
    const isHere = fishCondition(path, commands);
    const isBelow = fishCondition(path, []);
    return [
      ...commands.map(
        (each) =>
          `complete -c ${name} -f -n ${isHere} -a ${each.name()} -d ${fishText(each.summary() || each.description())}`,
      ),
      ...options.map((option) => {
        const { short, long, description, argChoices } = option;
        const flags = [long && `-l ${long.slice(2)}`, short && `-s ${short.slice(1)}`];
        const values = argChoices === undefined ? '-r' : `-x -a ${fishText(argChoices.join(' '))}`;
        const value = takesValue(option) ? values : '';
        const words = [...flags, value, `-d ${fishText(description)}`].filter(Boolean);
        return `complete -c ${name} -n ${isBelow} ${words.join(' ')}`;
      }),
    ];
  });
  return `# Completion of ${name} for fish: ${name} completion fish | source\n${lines.join('\n')}\n`;
}

/** A condition of fish: the words before lead to the command, and to none of those below it. */
function fishCondition(path: readonly string[], below: readonly Command[]): string {
  const [first] = path;
  const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
  const names = below.map((command) => command.name()).join(' ');
  const unseen = below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${names}`];
  // Words of their own: these are commands, and some below `rpc`.
  const isTwice = path.length === 1 && (first === 'serve' || first === 'bench');
  const other = isTwice ? ['not __fish_seen_subcommand_from rpc'] : [];
  const all = [...seen, ...other, ...unseen];
  return `'${all.length === 0 ? 'true' : all.join('; and ')}'`;
}

const fishText = (text: string): string =>
  `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
