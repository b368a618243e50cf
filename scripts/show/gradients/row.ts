import { worst } from './operator-derivatives.ts';

/** The largest errors on a device, relative to the derivatives where these are above 1. */
export interface DeviceErrors {
  /** Of reverse mode, against central differences in double precision, beyond what rounds these. */
  readonly differences: number;
  /** Of forward mode, against reverse mode; undefined where nothing was compared. */
  readonly modes: number | undefined;
}

/** Results for an operator or a program. */
export interface Row {
  readonly title: string;
  readonly cases: number;
  /** Derivatives that were compared one by one. */
  readonly compared: number;
  /** How many cases were left out, by the reason. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** By device. */
  readonly errors: Readonly<Record<string, DeviceErrors>>;
  readonly failures: readonly string[];
}

/** The same operator or program on further devices. */
export function mergeRows(row: Row, other: Row): Row {
  return {
    ...row,
    errors: { ...row.errors, ...other.errors },
    failures: [...row.failures, ...other.failures],
  };
}

/** The larger errors of two. */
export function worstOf(a: DeviceErrors | undefined, b: DeviceErrors): DeviceErrors {
  if (a === undefined) return b;
  const modes =
    a.modes === undefined || b.modes === undefined ? (a.modes ?? b.modes) : worst(a.modes, b.modes);
  return { differences: worst(a.differences, b.differences), modes };
}

const TITLE_WIDTH = 46;

/** The head of the table. */
export function headOf(kind: string, devices: readonly string[]): string {
  const cells = devices.map((device) => device.padEnd(16)).join(' ');
  return `${''.padEnd(6)} ${kind.padEnd(TITLE_WIDTH)} ${'cases'.padStart(5)} ${'compared'.padStart(8)}  ${cells}`;
}

/** A line of the table: on each device the largest error against differences, then between the modes. */
export function lineOf(row: Row, devices: readonly string[]): string {
  const { title, cases, compared, errors, failures } = row;
  const cells = devices.map((device) => {
    const found = errors[device];
    if (found === undefined) return '-'.padEnd(16);
    const { differences, modes } = found;
    return `${exponent(differences)} ${modes === undefined ? '-' : exponent(modes)}`.padEnd(16);
  });
  const state = failures.length === 0 ? 'ok    ' : 'FAILED';
  const short = title.length > TITLE_WIDTH ? `${title.slice(0, TITLE_WIDTH - 1)}…` : title;
  return `${state} ${short.padEnd(TITLE_WIDTH)} ${String(cases).padStart(5)} ${String(compared).padStart(8)}  ${cells.join(' ')}`;
}

function exponent(error: number): string {
  return error === 0 ? '0'.padEnd(7) : error.toExponential(1).padEnd(7);
}
