import { BUILTIN_SUMMARIES } from './builtin-summaries.ts';
import { BUILTIN_PREFIX, type BuiltinParam, BUILTINS, type BuiltinSignature } from '../builtins.ts';

/** `docs/builtins.md`: the table of builtins with signatures. */
export function builtinsDocument(): string {
  const table: Readonly<Record<string, BuiltinSignature>> = BUILTINS;
  const summaries: Readonly<Record<string, string>> = BUILTIN_SUMMARIES;
  const rows = Object.entries(table).map(([name, { params, rest, result }]) => {
    const operands = params.map(describeParam);
    if (rest !== undefined) operands.push(`${describeParam(rest)}...`);
    return `| \`${name}\` | ${operands.join(', ')} | ${result} | ${summaries[name] ?? ''} |`;
  });
  return [
    '# Builtins',
    '',
    '<!-- Generated from src/bytecode/builtins.ts by its test; do not edit. -->',
    '',
    `In an executable each name begins with \`${BUILTIN_PREFIX}\`. A result of \`void\` means that the`,
    'destination must be `%void`. The verifier checks number and form of the operands; that a register',
    'holds a value of the right kind is checked when the builtin runs. See',
    '[format.md](format.md#builtins) for what each operand kind may be.',
    '',
    '| name | operands | result | what it does |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function describeParam({ name, type }: BuiltinParam): string {
  return `${name}: ${typeof type === 'string' ? type : type.join(' or ')}`;
}
