import type { LendEvent } from './lend-messages.ts';

/** A client as the page shows it. */
export interface ShownConnection {
  readonly peer: string;
  /** Functions that run, by how often. */
  readonly running: ReadonlyMap<string, number>;
  readonly loaded: number;
  readonly answered: number;
}

export type ShownConnections = ReadonlyMap<number, ShownConnection>;

/** The connections after an event. One that never came to `connected` is not shown. */
export function afterEvent(connections: ShownConnections, event: LendEvent): ShownConnections {
  const next = new Map(connections);
  if (event.kind === 'connected') {
    next.set(event.connection, { peer: event.peer, running: new Map(), loaded: 0, answered: 0 });
    return next;
  }
  if (event.kind === 'closed') {
    next.delete(event.connection);
    return next;
  }
  const connection = connections.get(event.connection);
  if (connection === undefined) return connections;
  if (event.kind === 'load') {
    next.set(event.connection, { ...connection, loaded: connection.loaded + 1 });
    return next;
  }
  const running = new Map(connection.running);
  const isDone = event.kind === 'done';
  const count = (running.get(event.function) ?? 0) + (isDone ? -1 : 1);
  if (count > 0) running.set(event.function, count);
  else running.delete(event.function);
  next.set(event.connection, {
    ...connection,
    running,
    answered: connection.answered + (isDone ? 1 : 0),
  });
  return next;
}

/** `main`, `main (3), step`, or a dash. */
export function describeRunning({ running }: ShownConnection): string {
  const names = [...running].map(([name, count]) => (count > 1 ? `${name} (${count})` : name));
  return names.length === 0 ? '–' : names.join(', ');
}
