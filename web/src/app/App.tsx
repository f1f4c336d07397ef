// The page as a whole: who looks, in which language, through which stream.
import { Center, Loader, MantineProvider, Text } from '@mantine/core';
import { QueryClient, QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Router } from 'wouter';
import { Broken } from '@/components/Broken';
import { Front, sessionQuery, signIn, takeCode } from '@/features/session';
import { answer, ApiProblem, baseUrl, client, detailOf, renewConnections, setApiLanguage, whenStranger } from '@/lib/api';
import { Live } from '@/lib/live';
import { LiveProvider } from '@/lib/useLive';
import { useWords, WordsProvider } from '@/lib/words';
import type { Language } from '@/lib/format';
import { Shell } from './Shell';
import { theme } from './theme';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Values move by the live stream; a call is for the first sight and for what the stream asks again.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      // The yard may be on this very machine: whether there is a network elsewhere says nothing of it.
      networkMode: 'always',
      retry: (count, error) => !(error instanceof ApiProblem && error.status < 500) && count < 3,
    },
    mutations: { networkMode: 'always' },
  },
});

let spoken: Language = 'en';
let onVersion = (_version: string) => {};
const live = new Live({
  url: () => `${new URL('api/v1/live', baseUrl()).href.replace(/^http/, 'ws')}?lang=${spoken}`,
  poll: (since, signal) => answer(client.GET('/api/v1/events', { params: { query: { since, wait: since ? 20 : 0 } }, signal })),
  onVersion: (version) => onVersion(version),
  onDead: renewConnections,
});

export function App(props: { language: Language; catalogue: Record<string, string> }) {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <WordsProvider first={props.language} catalogue={props.catalogue}>
        <QueryClientProvider client={queries}>
          <LiveProvider value={live}>
            <Broken>
              <Router base={new URL(document.baseURI).pathname.replace(/\/$/, '')}>
                <Door />
              </Router>
            </Broken>
          </LiveProvider>
        </QueryClientProvider>
      </WordsProvider>
    </MantineProvider>
  );
}

/** Takes the code of the address once; then shows the yard to its owner and the front to everybody else. */
function Door() {
  const { t, language } = useWords();
  const queries = useQueryClient();
  const [refused, setRefused] = useState<string | null>(null);
  const [code] = useState(takeCode);
  const [asking, setAsking] = useState(code !== null);
  const session = useQuery({ ...sessionQuery, enabled: !asking });

  const asked = useRef(false);
  useEffect(() => {
    if (code === null || asked.current) return;
    asked.current = true;
    signIn(code)
      .then((answer) => queries.setQueryData(sessionQuery.queryKey, answer))
      .catch((error: unknown) => setRefused(detailOf(error, t('app.unreachable'))))
      .finally(() => setAsking(false));
  }, [code, queries, t]);

  useEffect(() => {
    whenStranger(() => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey }));
  }, [queries]);

  const [version, setVersion] = useState('');
  useEffect(() => {
    onVersion = setVersion;
  }, []);

  const inside = session.data?.signed_in === true;
  useEffect(() => {
    if (!inside) return;
    live.start();
    return () => live.stop();
  }, [inside]);

  // Sentences of the yard come in the language that was asked for: ask again.
  const before = useRef(language);
  useEffect(() => {
    spoken = language;
    setApiLanguage(language);
    if (before.current === language) return;
    before.current = language;
    live.reconnect();
    void queries.invalidateQueries();
  }, [language, queries]);

  if (session.error && !session.data) {
    return (
      <Center component="main" h="60vh" p="md">
        <Text>{detailOf(session.error, t('app.unreachable'))}</Text>
      </Center>
    );
  }
  if (!session.data) {
    return (
      <Center component="main" h="60vh">
        <Loader aria-label={t('app.loading')} />
      </Center>
    );
  }
  return inside ? <Shell owner={session.data.owner} newVersion={version} /> : <Front owner={session.data.owner} refused={refused} />;
}
