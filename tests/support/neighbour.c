/* A part of a program that uses libzookeeper_mt beside paddock; see check_neighbours.sh. */
#define THREADED
#include <zookeeper/zookeeper.h>

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int connected;

static void watcher(zhandle_t* handle, int type, int state, const char* path, void* context) {
    (void)handle, (void)path, (void)context;
    pthread_mutex_lock(&mutex);
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE) connected = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

int use_threaded_c_client(const char* servers) {
    int rc;
    zhandle_t* handle;
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    handle = zookeeper_init(servers, watcher, 10000, NULL, NULL, 0);
    pthread_mutex_lock(&mutex);
    while (!connected)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    rc = zoo_create(handle, "/neighbour", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0);
    printf("the neighbour has created a node: %d\n", rc);
    fflush(stdout);
    zookeeper_close(handle);
    return rc;
}
