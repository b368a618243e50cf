import type { KeptNode } from '../../frontend/index.ts';
import type { Measured } from './measure-quantized.ts';
import type { ValueError } from './value-error.ts';

/**
 * The report of a quantisation, in lines: the rounded layers, and the errors of weights, layers and
 * outputs.
 */
export function describeReport(measured: Measured): string {
  const { quantized, values, ranOn, keptFor, wanted, failure } = measured;
  if (quantized.wasQuantized.length > 0) {
    const operators = quantized.wasQuantized.join(', ');
    return `the model is quantised already (${operators}): it is passed through as it is\n`;
  }
  const lines = quantized.layers.map(
    ({ node, operator, becomes, weightError, output, isSampled }) => {
      const value = values.get(output);
      const error = value === undefined ? '' : `, its output by ${describeError(value)}`;
      const alone = isSampled === false ? '; no sample reaches it, rounded to the nearest' : '';
      return `${node} (${operator}): ${becomes}; weights moved by ${percent(weightError)}${error}${alone}`;
    },
  );
  if (measured.rounded.length > 0) {
    lines.push(`rounded to uint8: ${measured.rounded.join(', ')}`);
  }
  if (measured.floatValues.length > 0) {
    const why = `outputs would have a cosine below ${wanted}`;
    lines.push(`not rounded to uint8, ${why}: ${measured.floatValues.join(', ')}`);
  }
  lines.push(...describeKept(quantized.kept, keptFor, wanted));
  const others = Object.entries(quantized.others).map(([name, count]) => `${count} ${name}`);
  if (others.length > 0) lines.push(`no weights of their own: ${others.join(', ')}`);
  if (failure !== undefined) {
    lines.push(`the outputs could not be compared: ${failure}`, NOT_COMPARED);
  } else if (ranOn !== '') {
    lines.push(`on ${ranOn}, beside the float model:`);
    for (const name of quantized.outputs) {
      const value = values.get(name);
      if (value !== undefined) lines.push(`  output ${name}: ${describeOutput(value)}`);
    }
    lines.push(`the cosine of each output is at least ${wanted}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

const NOT_COMPARED =
  'Give inputs with --calibrate, sizes with --dim, or compare no outputs with --no-run.';

/** A line for each reason of each operator. */
function describeKept(
  kept: readonly KeptNode[],
  keptFor: readonly string[],
  wanted: number,
): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { node, operator, reason } of kept) {
    const isForOutputs = keptFor.includes(node);
    const why = isForOutputs ? `outputs would have a cosine below ${wanted}` : reason;
    const key = `stays float: ${operator}, ${why}`;
    groups.set(key, [...(groups.get(key) ?? []), node]);
  }
  return [...groups].map(([key, nodes]) => `${key}: ${nodes.join(', ')}`);
}

function describeError({ cosine, relativeError }: ValueError): string {
  return `${percent(relativeError)} (cosine ${cosine.toFixed(6)})`;
}

function describeOutput({ cosine, worstCosine, largestError, sameTop }: ValueError): string {
  const top = sameTop === undefined ? '' : `, the same largest in ${percent(sameTop)} of rows`;
  return (
    `cosine ${cosine.toFixed(6)}, at worst ${worstCosine.toFixed(6)}; ` +
    `off by at most ${percent(largestError)} of its range${top}`
  );
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(3))}%`;
