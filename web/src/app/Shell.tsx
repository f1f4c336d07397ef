// The frame around every place: the rail on the left (below on a phone), the bar above with connection, language and theme.
import { ActionIcon, Alert, Anchor, Button, Center, Group, Loader, Text, Tooltip, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { IconLayoutDashboard, IconListDetails, IconLogout, IconMoon, IconPlus, IconStethoscope, IconSun } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Suspense, type ReactNode } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { Broken } from '@/components/Broken';
import { Logo } from '@/components/Logo';
import { sessionQuery, signOut } from '@/features/session';
import { useWords, type WordId } from '@/lib/words';
import { LineState } from './LineState';
import { NewTask, Overview, Task, Tasks, Welcome } from './places';
import { Stale, useStale } from './Stale';
import classes from './Shell.module.css';

const rail: { href: string; word: WordId & `nav.${string}`; icon: ReactNode }[] = [
  { href: '/', word: 'nav.yard', icon: <IconLayoutDashboard size={20} stroke={1.6} /> },
  { href: '/tasks', word: 'nav.tasks', icon: <IconListDetails size={20} stroke={1.6} /> },
  { href: '/new', word: 'nav.new', icon: <IconPlus size={20} stroke={1.6} /> },
  { href: '/welcome', word: 'nav.welcome', icon: <IconStethoscope size={20} stroke={1.6} /> },
];

/** `newVersion`: of the program that answers now, when it is not the one this page came with; else empty. */
export function Shell(props: { owner: string; newVersion: string }) {
  const { t } = useWords();
  const [place] = useLocation();
  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#content" onClick={(event) => {
        event.preventDefault();
        document.getElementById('content')?.focus();
      }}>
        {t('app.skip')}
      </a>
      <header className={classes.bar}>
        <Link href="/" className={classes.brand} aria-label={t('app.name')}>
          <Logo size={26} />
          <span className={classes.name}>{t('app.name')}</span>
        </Link>
        <Text size="sm" c="dimmed" truncate className={classes.owner}>
          {t('nav.owner', { owner: props.owner })}
        </Text>
        <Group gap={6} wrap="nowrap" ml="auto">
          <LineState />
          <LanguageButton />
          <ThemeButton />
          <SignOutButton />
        </Group>
      </header>
      <nav className={classes.rail} aria-label={t('nav.label')}>
        {rail.map(({ href, word, icon }) => {
          const here = href === '/' ? place === '/' : place.startsWith(href);
          return (
            <Link key={href} href={href} className={classes.place} data-here={here || undefined} aria-current={here ? 'page' : undefined}>
              {icon}
              <span>{(t as (id: WordId) => string)(word)}</span>
            </Link>
          );
        })}
      </nav>
      <Main>
        {props.newVersion && (
          <Alert color="rail" mb="md" role="status">
            <Group justify="space-between">
              {t('app.new_version', { version: props.newVersion })}
              <Button size="compact-sm" variant="default" onClick={() => location.reload()}>
                {t('app.reload')}
              </Button>
            </Group>
          </Alert>
        )}
        <Broken place={place}>
          <Suspense fallback={<Center h="40vh"><Loader aria-label={t('app.loading')} /></Center>}>
            <Switch>
              <Route path="/" component={Overview} />
              <Route path="/welcome" component={Welcome} />
              <Route path="/new" component={NewTask} />
              <Route path="/tasks" component={Tasks} />
              <Route path="/tasks/:id">{(found) => (/^\d+$/.test(found.id) ? <Task key={found.id} id={Number(found.id)} /> : <NotFound />)}</Route>
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </Broken>
      </Main>
    </div>
  );
}

/** Where places are shown; what moves in it stands back while nobody tells how it moves. */
function Main(props: { children: ReactNode }) {
  const since = useStale();
  return (
    <main id="content" tabIndex={-1} className={classes.content} data-stale={since !== null || undefined}>
      {props.children}
      <Stale since={since} />
    </main>
  );
}

function NotFound() {
  const { t } = useWords();
  return (
    <Center h="40vh">
      <Group>
        <Text component="h1" m={0} size="md" fw={400}>
          {t('app.not_found')}
        </Text>
        <Anchor component={Link} href="/">
          {t('app.to_yard')}
        </Anchor>
      </Group>
    </Center>
  );
}

function LanguageButton() {
  const { t, language, speak } = useWords();
  return (
    <Button variant="subtle" color="gray" size="compact-sm" px={6} onClick={() => speak(language === 'zh' ? 'en' : 'zh')} aria-label={t('nav.language_label')} lang={language === 'zh' ? 'en' : 'zh-CN'}>
      {t('nav.language')}
    </Button>
  );
}

function ThemeButton() {
  const { t } = useWords();
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light') === 'dark';
  const words = dark ? t('nav.theme_light') : t('nav.theme_dark');
  return (
    <Tooltip label={words}>
      <ActionIcon variant="subtle" color="gray" aria-label={words} onClick={() => setColorScheme(dark ? 'light' : 'dark')}>
        {dark ? <IconSun size={18} stroke={1.6} /> : <IconMoon size={18} stroke={1.6} />}
      </ActionIcon>
    </Tooltip>
  );
}

function SignOutButton() {
  const { t } = useWords();
  const queries = useQueryClient();
  const leave = async () => {
    await signOut().catch(() => null);
    await queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
  };
  return (
    <Tooltip label={t('nav.sign_out')}>
      <ActionIcon variant="subtle" color="gray" aria-label={t('nav.sign_out')} onClick={() => void leave()}>
        <IconLogout size={18} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  );
}
