// Live is the one stream of this tab (docs/formats/live.md). Whoever shows something that moves subscribes to its topic and
// gets whole values. It comes back by itself after sleep, a restart of the yard or a broken line, and where WebSockets do not
// pass it polls the event log instead and says "ask again" for every topic.

export type Line = 'connecting' | 'live' | 'polling' | 'offline';

export interface Topic {
  onValue: (value: unknown, seq: number) => void;
  /** The topic cannot be read, and has ended. */
  onProblem?: (problem: unknown) => void;
  /** Values were missed or cannot come: read it by a call now. */
  onAskAgain?: () => void;
}

export interface LiveState {
  line: Line;
  /** When something was last heard, by this browser's clock in ms; 0: never. */
  heard: number;
  /** The yard's clock less this browser's, in ms. */
  ahead: number;
}

const kBeats = 25_000; // the yard says something every 10 s: after this long it is not there
const kPong = 2500;
const kHello = 15_000; // a try that has not been greeted by then never will be
const kGiveUp = 2; // streams that failed before their hello: then polling begins beside trying on
const kPollPause = 1500;
const backOff = (tries: number) => Math.min(5000, 250 * 2 ** Math.min(tries, 6)) * (0.75 + Math.random() / 2);

export interface LiveSettings {
  /** ws://…/api/v1/live?lang=en, asked anew at each try. */
  url: () => string;
  /** Events past `since`, waiting for one: the cursor. Throws when the yard cannot be reached. */
  poll: (since: number, signal: AbortSignal) => Promise<{ next: number }>;
  /** The yard that answers is another program than the one that this page came from. */
  onVersion?: (version: string) => void;
  /** The stream looked open and was dead: so are other connections of its time. */
  onDead?: () => void;
  socket?: (url: string) => WebSocket;
}

export class Live {
  private readonly topics = new Map<string, Set<Topic>>();
  private readonly listeners = new Set<() => void>();
  private state: LiveState = { line: 'connecting', heard: 0, ahead: 0 };
  private socket: WebSocket | null = null;
  private tries = 0;
  private failures = 0; // streams in a row that never said hello
  private retry: ReturnType<typeof setTimeout> | undefined;
  private watch: ReturnType<typeof setInterval> | undefined;
  private pong: ReturnType<typeof setTimeout> | undefined;
  private hello: ReturnType<typeof setTimeout> | undefined;
  private polling: AbortController | null = null;
  private seq = 0;
  private version = '';
  private running = false;

  constructor(private readonly settings: LiveSettings) {}

  start() {
    if (this.running) return;
    this.running = true;
    this.connect();
    this.watch = setInterval(() => this.lookWhetherAlive(), 5000);
    document.addEventListener('visibilitychange', this.wake);
    window.addEventListener('online', this.wake);
    window.addEventListener('pageshow', this.wake);
  }

  stop() {
    this.running = false;
    clearInterval(this.watch);
    clearTimeout(this.retry);
    clearTimeout(this.pong);
    clearTimeout(this.hello);
    document.removeEventListener('visibilitychange', this.wake);
    window.removeEventListener('online', this.wake);
    window.removeEventListener('pageshow', this.wake);
    this.stopPolling();
    this.drop();
  }

  /** Begins a topic for one more listener; the answer ends it. */
  subscribe(name: string, topic: Topic): () => void {
    const here = this.topics.get(name) ?? new Set<Topic>();
    here.add(topic);
    if (here.size === 1) {
      this.topics.set(name, here);
      this.send({ sub: [name], ...(name === 'events' && this.seq ? { since: this.seq } : {}) });
    } else {
      // The stream tells a value once; the newcomer asks for itself.
      topic.onAskAgain?.();
    }
    return () => {
      if (!here.delete(topic) || here.size > 0) return;
      if (this.topics.get(name) === here) {
        this.topics.delete(name);
        this.send({ unsub: [name] });
      }
    };
  }

  /** Has the topic's value told once more: the stream tells it only when it differs from what it told last. */
  refresh(name: string) {
    if (!this.topics.has(name) || this.state.line !== 'live') return;
    this.send({ unsub: [name] });
    this.send({ sub: [name] });
  }

  /** For useSyncExternalStore. */
  readonly onState = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly getState = () => this.state;

  /** Begins anew at once: another language, another session. */
  reconnect() {
    this.tries = 0;
    this.drop();
    if (this.running) this.connect();
  }

  private readonly wake = () => {
    if (document.visibilityState === 'hidden') return;
    if (!this.socket) return this.reconnect();
    if (this.socket.readyState !== WebSocket.OPEN) return;
    // A stream that slept may look open and be dead.
    this.send({ ping: 1 });
    clearTimeout(this.pong);
    this.pong = setTimeout(() => this.died(), kPong);
  };

  private died() {
    this.say({ line: 'connecting' });
    this.reconnect();
    this.settings.onDead?.();
  }

  private connect() {
    clearTimeout(this.retry);
    clearTimeout(this.hello);
    const make = this.settings.socket ?? ((url) => new WebSocket(url));
    let socket: WebSocket;
    try {
      socket = make(this.settings.url());
    } catch {
      return this.lost(false);
    }
    this.socket = socket;
    let greeted = false;
    this.hello = setTimeout(() => {
      if (greeted || socket !== this.socket) return;
      this.drop();
      this.lost(false);
    }, kHello);
    socket.onmessage = (event: MessageEvent) => {
      if (socket !== this.socket) return;
      let frame: Record<string, unknown>;
      try {
        frame = JSON.parse(String(event.data)) as Record<string, unknown>;
      } catch {
        return;
      }
      if (frame.hello) greeted = true;
      this.take(frame);
    };
    socket.onclose = () => {
      if (socket === this.socket) this.lost(greeted);
    };
  }

  private lost(greeted: boolean) {
    this.socket = null;
    clearTimeout(this.pong);
    this.failures = greeted ? 0 : this.failures + 1;
    if (!this.running) return;
    this.say({ line: this.polling ? this.state.line : this.failures >= kGiveUp ? 'offline' : 'connecting' });
    if (this.failures >= kGiveUp && !this.polling) void this.poll();
    this.retry = setTimeout(() => this.connect(), backOff(this.tries++));
  }

  private drop() {
    const socket = this.socket;
    this.socket = null;
    if (!socket) return;
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
  }

  private lookWhetherAlive() {
    if (this.state.line === 'live' && Date.now() - this.state.heard > kBeats) this.died();
  }

  private take(frame: Record<string, unknown>) {
    const heard = Date.now();
    clearTimeout(this.pong);
    if (typeof frame.beat === 'string') return this.say({ heard, ahead: Date.parse(frame.beat) - heard });
    if (frame.hello) return this.greet(frame.hello as { version: string; seq: number; now: string }, heard);
    const name = frame.topic;
    if (typeof name !== 'string') return this.say({ heard });
    const seq = Number(frame.seq ?? 0);
    if (seq > this.seq) this.seq = seq;
    // Listeners may come and go while they are told.
    for (const topic of [...(this.topics.get(name) ?? [])]) {
      if (frame.problem) topic.onProblem?.(frame.problem);
      else if (frame.resync) topic.onAskAgain?.();
      else topic.onValue(frame.value, seq);
    }
    if (heard - this.state.heard > 1000) this.say({ heard });
  }

  private greet(hello: { version: string; seq: number; now: string }, heard: number) {
    this.tries = 0;
    this.failures = 0;
    this.stopPolling();
    const since = this.seq;
    this.seq = Math.max(this.seq, hello.seq);
    const others = [...this.topics.keys()].filter((name) => name !== 'events');
    for (let i = 0; i < others.length; i += 32) this.send({ sub: others.slice(i, i + 32) });
    if (this.topics.has('events')) this.send({ sub: ['events'], ...(since ? { since } : {}) });
    if (this.version && this.version !== hello.version) this.settings.onVersion?.(hello.version);
    this.version = hello.version;
    this.say({ line: 'live', heard, ahead: Date.parse(hello.now) - heard });
  }

  // The fall-back: the event log by its cursor. Progress makes no event, so everything is asked for again at each turn.
  private async poll() {
    const control = new AbortController();
    this.polling = control;
    while (!control.signal.aborted) {
      try {
        const { next } = await this.settings.poll(this.seq, control.signal);
        if (control.signal.aborted) return;
        this.seq = Math.max(this.seq, next);
        this.say({ line: 'polling', heard: Date.now() });
        for (const topics of [...this.topics.values()]) for (const topic of [...topics]) topic.onAskAgain?.();
      } catch {
        if (control.signal.aborted) return;
        this.say({ line: 'offline' });
      }
      await new Promise((resolve) => setTimeout(resolve, kPollPause));
    }
  }

  private stopPolling() {
    this.polling?.abort();
    this.polling = null;
  }

  private send(frame: object) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  private say(change: Partial<LiveState>) {
    this.state = { ...this.state, ...change };
    for (const listener of [...this.listeners]) listener();
  }
}
