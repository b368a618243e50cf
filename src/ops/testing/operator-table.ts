import type { AttributeSpec, InputSpec, OpDefinition } from '../define-op.ts';
import { describeDTypes } from './describe-dtypes.ts';
import type { OpCases } from '../op-cases.ts';

/** All operators as the Markdown table of `docs/operators.md`. */
export function operatorTable(ops: Iterable<OpDefinition & OpCases>): string {
  const rows = [...ops].map((op) => {
    const { name, kind, summary, inputs, attributes } = op;
    const cells = [
      `\`${name}\``,
      kind,
      summary,
      inputs.map(describeInput).join('; '),
      Object.entries(attributes).map(describeAttribute).join(', '),
      describeTolerance(op),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| operator | kind | result | inputs | attributes | tolerance |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function describeInput({ name, dtypes, optional, variadic }: InputSpec): string {
  const mark = optional === true ? '?' : variadic === true ? '...' : '';
  return `\`${name}${mark}\`: ${describeDTypes(dtypes)}`;
}

function describeAttribute([name, spec]: [string, AttributeSpec]): string {
  const byDefault = spec.default === undefined ? '' : ` = ${JSON.stringify(spec.default)}`;
  return `\`${name}${byDefault}\``;
}

function describeTolerance({ tolerance: { rtol, atol } }: OpDefinition): string {
  return rtol === 0 && atol === 0 ? 'exact' : `${rtol} relative, ${atol} absolute`;
}
